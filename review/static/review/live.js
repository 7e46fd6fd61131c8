/* Keeps a page true while somebody looks at it: who else is here, and what is new in the queue.
   What a person has begun (rows chosen, something typed) is never drawn over. */
"use strict";

(() => {
  const words = document.currentScript.dataset; // in the language of the page
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const parse = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");

  /* Repeats while the page is looked at; one request at a time, and none after a refusal. */
  function every(seconds, act) {
    let busy = false;
    setInterval(async () => {
      if (busy || document.hidden) return;
      busy = true;
      try {
        await act();
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // the network is away; the next turn tells
      } finally {
        busy = false;
      }
    }, seconds * 1000);
  }

  /* -- who looks at this item ----------------------------------------------------------------- */

  const panel = one("[data-here]");
  if (panel) {
    const beat = async () => {
      const body = new FormData();
      body.set("csrfmiddlewaretoken", one("[name=csrfmiddlewaretoken]").value);
      const answer = await fetch(panel.dataset.here, { method: "POST", body, credentials: "same-origin" });
      if (answer.ok) one("#here").replaceChildren(...(await parse(answer)).body.childNodes);
    };
    every(30, beat);
  }

  /* -- what is new in the queue --------------------------------------------------------------- */

  const live = one("[data-live]");
  if (!live) return;

  const names = (root) => all(".item .what a", root).map((link) => link.getAttribute("href"));
  const note = one("#live");

  function begun() {
    const field = document.activeElement?.closest("input, select, textarea, [data-live] .item");
    const typed = all(".filters :is(input[type=search], select)").some((each) =>
      each.matches("select") ? [...each.options].some((o) => o.selected !== o.defaultSelected) : each.value !== each.defaultValue,
    );
    const written = all("input:not([type=checkbox], [type=hidden]), textarea", live).some((each) => each.value !== each.defaultValue);
    return Boolean(field) || typed || written || Boolean(one(".item.on, .item input:checked")) || Boolean(one("dialog[open]"));
  }

  function draw(fresh) {
    for (const part of ["[data-live]", ".head", ".tabs"]) {
      const [own, drawn] = [one(part), one(part, fresh)];
      if (own && drawn) own.replaceChildren(...drawn.childNodes);
    }
    note.replaceChildren();
  }

  function tell(count, fresh) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words.show;
    button.addEventListener("click", () => {
      all(".item.on").forEach((row) => row.classList.remove("on"));
      draw(fresh);
    });
    note.replaceChildren(`${words.new.replace("{number}", count)} `, button);
  }

  async function look() {
    const answer = await fetch(location.href, { credentials: "same-origin", headers: { "X-Live": "1" } });
    if (!answer.ok || answer.redirected) return;
    const fresh = await parse(answer);
    if (!one("[data-live]", fresh)) return;
    const known = new Set(names(live));
    const added = names(one("[data-live]", fresh)).filter((name) => !known.has(name)).length;
    if (!begun()) draw(fresh);
    else if (added) tell(added, fresh);
    document.documentElement.dataset.looked = String(Number(document.documentElement.dataset.looked ?? 0) + 1);
  }

  every(Number(live.dataset.live), look);
})();
