// Keeps the focus on the page: when the element that has it goes away, the nearest thing around it that is left gets it. Otherwise
// the keyboard and screen readers would begin again at the top.

const FOCUSABLE =
  "a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), [tabindex]";

/** Returns the function that ends this. */
export function keepFocus(): () => void {
  /** The element that had the focus last, and what is around it, from the inside to the outside. */
  let path: Element[] = [];

  const remember = ({ target }: FocusEvent) => {
    path = [];
    for (let each = target instanceof Element ? target : null; each !== null; each = each.parentElement)
      path.push(each);
  };

  const observer = new MutationObserver(() => {
    const [focused, ...around] = path;
    if (focused === undefined || focused.isConnected || document.activeElement !== document.body) return;
    path = [];
    nextTo(around.find((each) => each.isConnected))?.focus({ preventScroll: true });
  });

  document.addEventListener("focusin", remember);
  observer.observe(document.body, { childList: true, subtree: true });
  return () => {
    document.removeEventListener("focusin", remember);
    observer.disconnect();
  };
}

/** The first stop of a part of the page; the heading if nothing smaller than the page is left. */
function nextTo(left: Element | undefined): HTMLElement | null {
  const isPart = left !== undefined && left.querySelector("h1") === null;
  const stop = isPart ? left.querySelector<HTMLElement>(FOCUSABLE) : null;
  if (stop !== null) return stop;
  const heading = document.querySelector("h1");
  heading?.setAttribute("tabindex", "-1");
  return heading;
}
