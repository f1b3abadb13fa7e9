// What light falls on a place; and the last touch to every colour.
uniform vec4 lamp; uniform vec4 cone; uniform vec4 mood; uniform vec2 bell;
uniform vec4 lights[8]; uniform vec4 tints[8];
vec3 light_at(vec2 p) {
  vec2 d = p - lamp.xy; float r = length(d);
  float c = dot(d, lamp.zw) / max(r, 0.001);
  float beam = smoothstep(cone.x - 0.13, cone.x + 0.07, c);
  float fall = clamp(1.0 - r / (cone.y * 1.2), 0.0, 1.0);
  vec3 l = vec3(0.125, 0.215, 0.30);
  l += vec3(1.0, 0.93, 0.76) * (beam * (0.65 + 0.5 * fall) * fall * 1.45 + exp(-r * r * 0.07) * 0.6);
  vec2 b = p - bell; l += vec3(0.40, 0.72, 0.62) * exp(-dot(b, b) * 0.011);
  for (int i = 0; i < 8; i++) {
    vec2 e = p - lights[i].xy; float k = clamp(1.0 - dot(e, e) / (lights[i].z * lights[i].z + 0.001), 0.0, 1.0);
    l += tints[i].rgb * (k * k * lights[i].w);
  }
  return l;
}

vec3 grade(vec3 c) {
  c = mix(c, vec3(dot(c, vec3(0.3, 0.55, 0.15))) * vec3(0.75, 0.95, 1.15), mood.x * 0.75);
  return mix(c, c * vec3(0.28, 0.34, 0.42), mood.z);
}
