layout(location = 0) in vec4 place; layout(location = 1) in vec2 size; layout(location = 2) in vec4 paint;
layout(location = 3) in vec4 style;
uniform vec4 camera;
out vec2 q; out vec2 extent; out vec4 colour; flat out vec4 look; out vec3 lit; out float phase;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  float length_ = length(place.zw);
  vec2 along = length_ > 1e-5 ? place.zw / length_ : vec2(1.0, 0.0);
  extent = vec2(length_, size.x);
  if (style.x == 3.0) extent.x += size.x; // a line has round ends
  vec2 grown = extent * 1.06 + 0.7 / (camera.w * 360.0);
  q = corner * grown / max(extent, vec2(1e-5));
  vec2 p = place.xy + along * corner.x * grown.x + vec2(-along.y, along.x) * corner.y * grown.y;
  colour = paint; look = style; phase = size.y;
  lit = cone.z > 0.5 ? light_at(place.xy) : vec3(1.0);
  gl_Position = vec4((p.x - camera.x) * camera.z, -(p.y - camera.y) * camera.w, 0.0, 1.0);
}
