in vec2 q; in vec2 extent; in vec4 colour; flat in vec4 look; in vec3 lit; in float phase; out vec4 result;

float blob(vec2 p, vec2 c, vec2 r) { return (length((p - c) / r) - 1.0) * min(r.x, r.y); }
float wedge(vec2 p, float from, float to, float a, float b) { // between two x, with half heights a and b
  float k = clamp((p.x - from) / (to - from), 0.0, 1.0);
  return max(abs(p.y) - mix(a, b, k), max(from - p.x, p.x - to));
}
float cover(float d) { float w = fwidth(d) * 0.8 + 1e-4; return 1.0 - smoothstep(-w, w, d); }
void main() {
  int shape = int(look.x + 0.5); float extra = look.w / 255.0, glow = look.y / 255.0, flash = look.z / 255.0;
  vec3 base = colour.rgb; float alpha = colour.a, add = 0.0, mask = 0.0; vec2 p = q;
  vec3 ink = base * 0.28; float self = glow;
  float wave = sin(phase + p.x * 2.6);
  if (shape == 0) {
    float r = length(p); mask = clamp(1.0 - r, 0.0, 1.0); mask *= mask; add = 1.0; self = 1.0;
  } else if (shape == 1) {
    mask = cover(length(p) - 0.98);
  } else if (shape == 2) {
    float r = length(p), w = 0.04 + extra; mask = cover(abs(r - 0.93 + w) - w);
  } else if (shape == 3) {
    vec2 e = vec2(p.x * extent.x, p.y * extent.y); e.x = max(abs(e.x) - (extent.x - extent.y), 0.0);
    mask = cover(length(e) / extent.y - 1.0);
  } else if (shape == 4) {
    float r = min(extent.x, extent.y) * (0.06 + extra); vec2 e = abs(p * extent) - extent + r;
    float d = length(max(e, 0.0)) + min(max(e.x, e.y), 0.0) - r; mask = cover(d);
  } else if (shape == 5) { // fish
    p.y += wave * 0.20 * (0.55 - p.x * 0.5);
    float body = blob(p, vec2(0.18, 0.0), vec2(0.80, 0.56)), tail = wedge(p, -1.0, -0.40, 0.62, 0.06);
    float fin = blob(p, vec2(0.05, 0.0), vec2(0.22, 0.95));
    mask = cover(min(min(body, tail), fin));
    base = mix(base * 0.55, base, smoothstep(0.02, -0.14, min(body, tail)));
    base = mix(base, min(base * 1.45 + 0.10, 1.0), smoothstep(0.30, 0.0, abs(p.y)) * step(-0.45, p.x));
    base = mix(base, base * mix(1.0, 0.45, extra), smoothstep(0.25, 0.4, abs(fract(p.x * 2.2) - 0.5)));
    float eye = length((p - vec2(0.62, 0.20 * sign(p.y))) / vec2(0.10, 0.13));
    base = mix(base, vec3(0.95, 0.92, 0.80), cover(eye - 1.0)); base = mix(base, vec3(0.02), cover(eye - 0.55));
  } else if (shape == 6) { // jelly
    float pulse = 0.06 * sin(phase * 1.3); vec2 b = p - vec2(0.30, 0.0);
    float bell_ = blob(b, vec2(0.0), vec2(0.66 + pulse, 0.86 - pulse)); bell_ = max(bell_, -(b.x + 0.36));
    float arms = 1.0; for (int i = 0; i < 5; i++) {
      float y = (float(i) - 2.0) * 0.28 + 0.10 * sin(phase + p.x * 5.0 + float(i));
      arms = min(arms, max(abs(p.y - y) - 0.045, max(-0.98 - p.x, p.x - 0.05))); }
    float m = cover(bell_), n = cover(arms) * 0.7; mask = max(m, n);
    float rim = smoothstep(-0.22, 0.0, bell_); base = mix(base * 0.75, min(base * 1.35 + 0.08, 1.0), rim * m);
    alpha *= m > n ? 0.55 + 0.4 * rim : 0.6; self = max(self, 0.25);
    float heart = length(b - vec2(0.12, 0.0)); base = mix(base, vec3(1.0, 0.85, 0.9), smoothstep(0.34, 0.1, heart) * 0.6);
  } else if (shape == 7) { // crab
    float shell = blob(p, vec2(-0.10, 0.0), vec2(0.55, 0.66)); float legs = 1.0;
    for (int i = 0; i < 3; i++) { float x = -0.42 + float(i) * 0.28 + 0.06 * sin(phase * 2.0 + float(i) * 2.1);
      legs = min(legs, max(abs(p.x - x - (abs(p.y) - 0.6) * 0.25) - 0.045, abs(p.y) - 0.98)); }
    vec2 c = vec2(p.x, abs(p.y)) - vec2(0.62, 0.52); float claw = max(length(c / vec2(0.36, 0.26)) - 1.0, -(length((c - vec2(0.26, -0.02)) / vec2(0.26, 0.10)) - 1.0)) * 0.26;
    float arm = max(abs(abs(p.y) - 0.50 + p.x * 0.05) - 0.07, max(0.05 - p.x, p.x - 0.5));
    mask = cover(min(min(shell, legs), min(claw, arm)));
    base = mix(base * 0.6, base, smoothstep(0.0, -0.16, min(shell, claw)));
    base = mix(base, base * 1.5 + 0.05, smoothstep(0.5, 0.1, length(p - vec2(-0.2, 0.0))) * 0.8);
    base = mix(base, base * 0.6, smoothstep(0.03, 0.0, abs(abs(p.y) - 0.26)) * step(shell, 0.0));
    float eye = length((vec2(p.x, abs(p.y)) - vec2(0.40, 0.15)) / 0.085); base = mix(base, vec3(1.0, 0.95, 0.8), cover(eye - 1.0)); base = mix(base, vec3(0.02), cover(eye - 0.5));
  } else if (shape == 8) { // spiky
    float r = length(p), a = atan(p.y, p.x); float k = abs(fract(a * 2.2282 + phase * 0.05) - 0.5) * 2.0;
    float spikes = r - mix(0.46, 1.0, pow(k, 2.2)), ball = r - 0.56; float d = min(spikes, ball);
    mask = cover(d); base = mix(base * 0.42, base, smoothstep(0.62, 0.35, r));
    base = mix(base, vec3(1.0, 0.25, 0.1), extra * smoothstep(0.6, 0.0, r)); self = max(self, extra);
    base = mix(base, base * 1.7 + 0.1, smoothstep(0.32, 0.0, length(p - vec2(0.16, -0.16))));
  } else if (shape == 9) { // eel
    p.y += sin(phase + p.x * 4.2) * 0.42 * (0.75 - p.x * 0.45);
    float d = abs(p.y) - 0.34 * smoothstep(-1.02, 0.2, p.x) * sqrt(max(0.0, 1.0 - pow(max(p.x - 0.4, 0.0) / 0.6, 2.0)));
    mask = cover(max(d, abs(p.x) - 1.0)); base = mix(base * 0.55, base * 1.25, smoothstep(0.0, -0.2, d));
    float eye = length((p - vec2(0.76, 0.13 * sign(p.y))) / vec2(0.06, 0.10)); base = mix(base, vec3(1.0, 0.95, 0.5), cover(eye - 1.0)); self = max(self, cover(eye - 1.0));
  } else if (shape == 10) { // puffer
    float r = length(p * vec2(1.0, 1.05)), a = atan(p.y, p.x); float k = abs(fract(a * 2.5465) - 0.5) * 2.0;
    float swell = 0.04 * sin(phase), d = min(r - 0.74 - swell, r - mix(0.6, 0.95 + swell, pow(k, 5.0)));
    float tail = wedge(p, -1.0, -0.6, 0.30, 0.06); mask = cover(min(d, tail));
    base = mix(base * 0.5, base, smoothstep(0.78, 0.45, r)); base = mix(base, vec3(0.95, 0.9, 0.78), smoothstep(0.28, 0.10, abs(p.y)) * 0.55 * step(r, 0.74));
    base = mix(base, vec3(1.0, 0.3, 0.1), extra * 0.8); self = max(self, extra);
    float eye = length((vec2(p.x, abs(p.y)) - vec2(0.40, 0.36)) / 0.13); base = mix(base, vec3(1.0), cover(eye - 1.0)); base = mix(base, vec3(0.02), cover(eye - 0.5));
  } else if (shape == 11) { // shark
    p.y += wave * 0.16 * (0.5 - p.x * 0.5);
    float body = abs(p.y) - 0.36 * (1.0 - pow(abs(p.x - 0.15) / 1.0, 2.0)) ; body = max(body, -0.85 - p.x);
    float fins = wedge(vec2(p.x + abs(p.y) * 0.55, p.y), -0.20, 0.26, 0.95, 0.9); fins = max(fins, abs(p.y) - 0.95);
    float tail = max(abs(p.x + 0.86 + abs(p.y) * 0.32) - 0.10 * (1.0 - abs(p.y)), abs(p.y) - 0.75);
    mask = cover(min(min(body, fins), tail)); base = mix(base * 0.5, base, smoothstep(0.0, -0.15, body));
    base = mix(base, base * 1.4 + 0.06, smoothstep(0.16, 0.0, abs(p.y)));
    float eye = length((vec2(p.x, abs(p.y)) - vec2(0.72, 0.16)) / vec2(0.07, 0.07)); base = mix(base, vec3(1.0, 0.85, 0.2), cover(eye - 1.0)); self = max(self, cover(eye - 1.0));
  } else if (shape == 12) { // shrimp
    p.y += 0.12 * sin(phase * 1.4 + p.x * 3.0) * (0.4 - p.x * 0.6);
    float body = abs(p.y) - 0.34 * smoothstep(-0.9, 0.1, p.x) * smoothstep(0.85, 0.3, p.x); float feel = max(abs(abs(p.y) - 0.16 - (p.x - 0.5) * 0.7) - 0.035, max(0.45 - p.x, p.x - 1.0));
    float tail = wedge(p, -1.0, -0.72, 0.40, 0.08); mask = cover(min(min(body, feel), tail));
    base = mix(base, vec3(1.0), 0.6 * step(0.6, fract(p.x * 3.5 + 0.2)) * step(body, 0.0)); base *= mix(0.65, 1.0, smoothstep(0.0, -0.12, body));
  } else if (shape == 13) { // the diver, from above
    vec2 kick = vec2(p.x, abs(p.y)); float swing = 0.14 * sin(phase) * sign(p.y);
    float legs = max(abs(kick.y - 0.17) - 0.105, max(-0.78 - swing - p.x, p.x + 0.1)); float fins = wedge(vec2(p.x, kick.y - 0.19), -1.0 - swing, -0.62 - swing, 0.20, 0.10);
    float torso = blob(p, vec2(0.08, 0.0), vec2(0.36, 0.40)), tank = max(abs(kick.y - 0.12) - 0.10, abs(p.x - 0.02) - 0.27);
    float head = length(p - vec2(0.50, 0.0)) - 0.25, arm = length(vec2(p.x - clamp(p.x, 0.15, 0.62), kick.y - 0.44)) - 0.085;
    float d = min(min(min(legs, fins), min(torso, head)), arm); mask = cover(d);
    vec3 suit = base; base = suit * mix(0.55, 1.0, smoothstep(0.0, -0.12, d));
    base = mix(base, vec3(0.95, 0.72, 0.22), cover(tank)); base = mix(base, vec3(0.98, 0.78, 0.30), cover(head));
    base = mix(base, vec3(0.55, 0.95, 1.0), cover(blob(p, vec2(0.60, 0.0), vec2(0.11, 0.17)))); base = mix(base, vec3(0.10, 0.14, 0.18), cover(fins));
  } else if (shape == 14) { // the bell
    float r = length(p); mask = cover(r - 0.98); float bands = smoothstep(0.03, 0.0, abs(r - 0.72)) + smoothstep(0.04, 0.0, abs(r - 0.94));
    base = mix(base * 0.5, base * 1.2, smoothstep(1.0, 0.1, length(p - vec2(-0.25, -0.25)))); base = mix(base, vec3(0.95, 0.76, 0.38), clamp(bands, 0.0, 1.0));
    float a = atan(p.y, p.x), port = length(vec2(r - 0.83, (fract(a * 1.2732) - 0.5) * 0.6)) ; base = mix(base, vec3(0.65, 1.0, 0.9), cover(port - 0.07)); self = max(self, cover(port - 0.07));
    base = mix(base, vec3(0.65, 1.0, 0.9), cover(r - 0.26)); self = max(self, cover(r - 0.26));
  } else if (shape == 15) { // coral
    float r = length(p), a = atan(p.y, p.x) + 0.15 * sin(r * 9.0 + extra * 40.0); float n = 5.0 + floor(extra * 6.0);
    float petals = 0.62 + 0.34 * cos(a * n + extra * 20.0) * smoothstep(0.1, 0.9, r); mask = cover(r - petals);
    base = mix(base * 1.25 + 0.05, base * 0.45, smoothstep(0.05, petals, r)); base = mix(base, base * 1.6 + 0.1, step(0.72, fract(r * 6.0)) * 0.35);
  } else if (shape == 16) { // weed
    p.y += (p.x + 1.0) * 0.20 * sin(phase + p.x * 2.2); float d = abs(p.y) - 0.22 * (1.0 - p.x) * (0.75 + 0.25 * sin(p.x * 16.0));
    mask = cover(max(d, abs(p.x) - 0.99)); base *= 0.6 + 0.5 * (p.x * 0.5 + 0.5);
  } else if (shape == 17) { // bubble
    float r = length(p); mask = cover(r - 0.92); float rim = smoothstep(0.5, 0.92, r);
    alpha *= 0.10 + 0.75 * rim; base = mix(base, vec3(1.0), smoothstep(0.30, 0.05, length(p - vec2(-0.35, -0.35)))); alpha = max(alpha, colour.a * smoothstep(0.30, 0.05, length(p - vec2(-0.35, -0.35))));
  } else if (shape == 18) { // pearl
    float r = length(p); mask = cover(r - 0.92); base = mix(base * 0.6, base, smoothstep(1.0, 0.2, length(p - vec2(-0.2, -0.2))));
    base = mix(base, vec3(1.0), smoothstep(0.38, 0.1, length(p - vec2(-0.3, -0.3))));
  } else if (shape == 19) { // egg
    float r = length(p * vec2(0.95, 1.05)); mask = cover(r - 0.92); float twitch = 0.12 * sin(phase * 3.0);
    float inside = blob(p, vec2(twitch, 0.1 * sin(phase * 2.0)), vec2(0.42, 0.28)); base = mix(base, vec3(0.75, 0.16, 0.12), cover(inside) * (0.4 + 0.6 * extra));
    alpha *= 0.65 + 0.3 * smoothstep(0.6, 0.95, r); self = max(self, 0.25 + 0.5 * extra);
  } else if (shape == 20) { // a part of the leviathan
    float plate = blob(p, vec2(0.0), vec2(0.86, 0.82)), side = max(abs(p.x - (abs(p.y) - 0.7) * -0.9) - 0.13, abs(p.y) - 0.99); float d = min(plate, side);
    mask = cover(d); base = mix(base * 0.45, base, smoothstep(0.0, -0.35, plate)); base = mix(base, base * 0.45, smoothstep(0.05, 0.0, abs(p.x - 0.25 + p.y * p.y * 0.6)));
    float spot = length(p * vec2(1.0, 1.4)) - 0.20; base = mix(base, vec3(0.35, 1.0, 0.85), cover(spot) * (0.35 + 0.65 * extra)); self = max(self, cover(spot) * 0.9);
  } else if (shape == 21) { // the lantern, and the leviathan's head with extra
    p.y += wave * 0.08 * (0.5 - p.x * 0.5); float body = blob(p, vec2(0.10, 0.0), vec2(0.78, 0.80)), tail = wedge(p, -1.0, -0.5, 0.55, 0.15), fin = blob(vec2(p.x + 0.12, abs(p.y) - 0.78), vec2(0.0), vec2(0.24, 0.22));
    float d = min(min(body, tail), fin); mask = cover(d); base = mix(base * 0.4, base, smoothstep(0.0, -0.4, d));
    float mouth = abs(length(p - vec2(0.30, 0.0)) - 0.46); float jaw = step(0.38, p.x) * smoothstep(0.10, 0.05, mouth); base = mix(base, vec3(0.05, 0.0, 0.02), jaw);
    float teeth = jaw * step(0.5, fract(atan(p.y, p.x - 0.3) * 4.5)) * smoothstep(0.08, 0.03, mouth); base = mix(base, vec3(0.95, 0.95, 0.85), teeth);
    float eye = length((vec2(p.x, abs(p.y)) - vec2(0.34, 0.44)) / vec2(0.12, 0.10)); vec3 iris = mix(vec3(1.0, 0.9, 0.35), vec3(0.35, 1.0, 0.85), extra); base = mix(base, iris, cover(eye - 1.0)); base = mix(base, vec3(0.0), cover(eye - 0.4)); self = max(self, cover(eye - 1.0));
  } else { // the matron
    float r = length(p), a = atan(p.y, p.x); float frill = 0.80 + 0.10 * sin(a * 9.0 + phase) + 0.05 * sin(a * 5.0 - phase * 1.7); mask = cover(r - frill);
    base = mix(base, base * 0.35, smoothstep(0.35, frill, r)); float bump = length(fract(p * 3.2 + 0.5) - 0.5); base = mix(base, vec3(1.0, 0.75, 0.45), smoothstep(0.30, 0.18, bump) * step(r, 0.62) * 0.75); self = max(self, smoothstep(0.30, 0.18, bump) * step(r, 0.62) * 0.35);
    float eye = length((vec2(p.x, abs(p.y)) - vec2(0.60, 0.20)) / vec2(0.10, 0.12)); base = mix(base, vec3(1.0, 1.0, 0.6), cover(eye - 1.0)); base = mix(base, vec3(0.0), cover(eye - 0.45)); self = max(self, cover(eye - 1.0));
  }
  if (mask <= 0.002) discard;
  vec3 c = base * mix(lit, vec3(1.0), clamp(self, 0.0, 1.0));
  c = mix(c, vec3(1.0, 0.97, 0.9), flash);
  alpha *= mask;
  result = vec4(grade(c) * alpha, alpha * (1.0 - add));
}
