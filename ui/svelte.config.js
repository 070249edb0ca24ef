// Read by Vite's Svelte plugin and by svelte-check.

/** @type {import("@sveltejs/vite-plugin-svelte").SvelteConfig} */
export default {
  compilerOptions: { runes: true },
};
