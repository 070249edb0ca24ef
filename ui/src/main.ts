// Starts the UI.

import { mount } from "svelte";
import App from "./App.svelte";
import { keys } from "./keys.ts";
import { router } from "./router.svelte.ts";
import { session } from "./state/session.svelte.ts";
import "./styles/tokens.css";
import "./styles/base.css";

const target = document.querySelector("#app");
if (target === null) throw new Error("index.html has no element for the UI");

// The session first: it takes the key out of the address before anything reads it.
const isReady = session.start();
router.start();
keys.start();
mount(App, { target });
await isReady;
