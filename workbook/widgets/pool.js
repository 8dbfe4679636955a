root => {
  const svg = root.querySelector("svg"), owners = JSON.parse(svg.dataset.owners), rounds = JSON.parse(svg.dataset.rounds);
  const what = root.querySelector(".what"), head = root.querySelector(".head");
  const pages = [...root.querySelectorAll(".pg")].map((g, page) => ({
    g, page, changes: g.dataset.h.split(" ").filter(Boolean).map(c => c.split(":")),
  }));
  const at = (changes, k) => changes.filter(c => +c[0] <= k).pop() || [-1, "f"];
  const look = owner => owner === "f" ? ["free", "", "free"] : owner === "c" ? ["cache", "c", "in the prefix cache"] : owners[owner];
  let now = 0;
  for (const { g, page, changes } of pages) {
    let before;
    g.onmouseenter = () => {
      const [k, owner] = at(changes, now);
      before = what.textContent;
      what.textContent = `page ${page}: ${look(owner)[2]}` + (+k < 0 ? " from the start" : `, since round ${rounds[k][0]}`);
    };
    g.onmouseleave = () => { if (what.textContent.startsWith(`page ${page}:`)) what.textContent = before; };
  }
  return k => {
    now = k;
    for (const { g, changes } of pages) {
      const [since, owner] = at(changes, k), [kind, label] = look(owner), text = g.querySelector(".w");
      g.setAttribute("class", `pg ${kind}${+since === k ? " new" : ""}`);
      if (text) text.textContent = label;
    }
    if (rounds[k]) head.textContent = rounds[k][1];
  };
}
