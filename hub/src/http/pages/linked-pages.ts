// The paths of pages to which other sites may link.

export const CALLBACK_PATH = "/oauth/callback";
/** Where identity providers send the browser back to. */
export const SIGN_IN_CALLBACK_PATH = "/login/callback";
/** Before the name of an identity provider, whose server says there that someone has signed out. */
export const BACK_CHANNEL_PATH = "/login/backchannel/";

/**
 * Authorization servers and identity providers link to their callbacks, and clients show the others to people. Pages of the web
 * interface show nothing before they are signed in.
 */
export function isLinkedPage(path: string): boolean {
  if (path === "/ui" || path.startsWith("/ui/")) return true;
  // Clients send people to the one, and from there to the others.
  if (path === "/oauth/authorize" || path.startsWith("/oauth/authorize/") || path.startsWith("/oauth/consent/"))
    return true;
  if (path === CALLBACK_PATH || path === SIGN_IN_CALLBACK_PATH) return true;
  return path.startsWith("/oauth/done/") || path.startsWith("/connect/");
}
