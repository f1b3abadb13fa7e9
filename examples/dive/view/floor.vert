uniform vec4 camera;
out vec2 at; out vec2 screen;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  screen = corner;
  at = camera.xy + vec2(corner.x, -corner.y) / camera.zw;
  gl_Position = vec4(corner, 0.0, 1.0);
}
