root => {
  const frames = text => new Set(text.split(" ").flatMap(span => {
    const [a, b] = span.split("-").map(Number);
    return Array.from({ length: (b ?? a) - a + 1 }, (_, i) => a + i);
  }));
  const items = [...root.querySelectorAll("[data-f]")].map(g => [g, frames(g.dataset.f)]);
  return k => { for (const [g, when] of items) g.classList.toggle("off", !when.has(k)); };
}
