// The paths of pages to which other sites may link.

export const CALLBACK_PATH = "/oauth/callback";

/** Authorization servers link to the callback, and clients show the others to people. Pages of the web interface show nothing before they are signed in. */
export function isLinkedPage(path: string): boolean {
  if (path === "/ui" || path.startsWith("/ui/")) return true;
  // Clients send people to the one, and from there to the others.
  if (path === "/oauth/authorize" || path.startsWith("/oauth/authorize/") || path.startsWith("/oauth/consent/"))
    return true;
  return path === CALLBACK_PATH || path.startsWith("/oauth/done/") || path.startsWith("/connect/");
}
