/* Hands for the console: keys, the live outcome row, the undo countdown. Every page works without. */
"use strict";

(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const typing = (target) => target.matches("input:not([type=radio], [type=checkbox]), textarea, select");

  /* -- moving through rows and fields -------------------------------------------------------- */

  const stops = () => all(".item .what a").concat(all(".compare input[type=radio]:checked"));

  function move(step) {
    const places = stops();
    if (!places.length) return;
    const here = places.findIndex((place) => place === document.activeElement || place.closest(".item.on"));
    const next = places[Math.min(places.length - 1, Math.max(0, here + step))];
    all(".item.on").forEach((row) => row.classList.remove("on"));
    next.closest(".item")?.classList.add("on");
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  /* -- verbs: a key arms the button and asks for the reason; enter then carries it out -------- */

  const form = one("#act");
  let armed = null;

  function arm(button) {
    const reason = one("#reason");
    all(".verb.armed").forEach((verb) => verb.classList.remove("armed"));
    if (!reason || button.formNoValidate) {
      button.click();
      return;
    }
    armed = button;
    button.closest(".verb")?.classList.add("armed");
    reason.focus();
    reason.scrollIntoView({ block: "nearest" });
  }

  one("#reason")?.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (armed) form.requestSubmit(armed);
    } else if (event.key === "Escape") {
      armed?.closest(".verb")?.classList.remove("armed");
      armed = null;
      event.target.blur();
    }
  });

  // A decision is sent once: the ledger would answer a second one, but nobody should have to see it.
  form?.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => form && delete form.dataset.sent);

  /* -- keys ----------------------------------------------------------------------------------- */

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    "/": () => one("#search")?.focus(),
    "?": () => one("#help")?.showModal(),
    q: () => one("#to-queue")?.click(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || one("dialog[open]")) return;
    const button = one(`button[data-key="${CSS.escape(event.key)}"]:not([disabled])`);
    const act = keys[event.key] ?? (button && (() => arm(button)));
    if (!act) return;
    event.preventDefault();
    act();
  });

  /* -- the outcome row follows the choice ----------------------------------------------------- */

  const result = one("#result");

  async function redraw() {
    const answer = await fetch(one("#preview").formAction, {
      method: "POST",
      body: new FormData(form),
      credentials: "same-origin",
    });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["result", "result-version"]) {
      const part = fresh.getElementById(id);
      if (part) document.getElementById(id).replaceChildren(...part.childNodes);
    }
    all(".verb", fresh).forEach((verb, place) => {
      const own = all(".verb")[place];
      one("button", own).disabled = one("button", verb).disabled;
      one("button", own).className = one("button", verb).className;
      one("p", own).replaceChildren(...one("p", verb).childNodes);
    });
    document.documentElement.dataset.drawn = String(Number(document.documentElement.dataset.drawn ?? 0) + 1);
  }

  if (result && form) {
    one("#preview").hidden = true;
    all("[name^=pick-], [name^=other-]").forEach((input) => input.addEventListener("change", redraw));
    all("[name^=other-]").forEach((input) =>
      input.addEventListener("input", () => {
        one(`[name="${input.name.replace("other", "pick")}"][value=other]`).checked = true;
      }),
    );
    redrawOnReturn();
  }

  // A browser restores radio buttons when it goes back; the row has to follow.
  function redrawOnReturn() {
    addEventListener("pageshow", (event) => event.persisted && redraw());
  }

  /* -- undo counts down ----------------------------------------------------------------------- */

  const undo = one(".undo time");
  if (undo) {
    const until = Date.parse(undo.dateTime);
    const tick = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      if (left <= 0) {
        one(".undo button").disabled = true;
        one(".undo span").textContent = "It is on its way; it can no longer be taken back.";
        return;
      }
      undo.textContent = `in ${left} s`;
      setTimeout(tick, 1000);
    };
    tick();
  }
})();
