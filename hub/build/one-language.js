// Leaves out of zod what it can say in other languages: 64 files that nobody here ever asks for.

const LOCALES = /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js(?:\?|$)/;

/** @returns {import("rolldown").Plugin} */
export function oneLanguage() {
  return {
    name: "one-language",
    load: { filter: { id: LOCALES }, handler: () => 'export { default as en } from "./en.js";' },
  };
}
