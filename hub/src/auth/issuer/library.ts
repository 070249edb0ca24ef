// Loads the protocol library, on the first request that needs it.

/**
 * The library warns on the console that it is not tested on Node 20. All that is used of it works there: the tests of this folder
 * run on it. Nothing else runs while its first module is evaluated, which is where it warns.
 */
export async function loadLibrary(): Promise<typeof import("oidc-provider")> {
  const target = globalThis.console;
  const warn = target.warn.bind(target);
  const quiet = (...texts: readonly unknown[]): void => {
    if (!String(texts[0]).includes("Unsupported runtime")) warn(...texts);
  };
  target.warn = quiet;
  try {
    return await import("oidc-provider");
  } finally {
    if (target.warn === quiet) target.warn = warn;
  }
}
