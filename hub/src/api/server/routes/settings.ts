// Settings of the hub.

import { settings, settingsPatch } from "../../schemas/settings.ts";
import type { SettingsCommands } from "../commands/settings.ts";
import { routesOf, type Route } from "../route.ts";

const { get, patch } = routesOf("hub");

export function settingsRoutes(commands: SettingsCommands): Route[] {
  return [
    get("/settings", "getSettings", "Settings of the hub: retention and size of the call log, folders, addresses", {
      answer: settings,
      versioned: true,
      run: () => commands.show(),
    }),
    patch("/settings", "changeSettings", "Change settings of the call log; they are saved and apply at once", {
      body: settingsPatch,
      bodyType: "application/merge-patch+json",
      answer: settings,
      versioned: true,
      run: ({ body, edit }) => commands.change(body, edit),
    }),
  ];
}
