// Metrics of the logins at servers, in the text format of Prometheus.

import type { HubEvents } from "../../events.ts";
import type { Logins } from "../../servers/login/logins.ts";
import type { Supervisor } from "../../servers/supervisor.ts";
import { metric, type Sample } from "../../telemetry/prometheus.ts";

export interface LoginMetricsOptions {
  readonly events: HubEvents;
  readonly logins: Pick<Logins, "view" | "views">;
  readonly supervisor: Supervisor;
}

/** How a renewal ended. `delayed`: the authorization server could not be reached, and is asked again. */
const OUTCOMES = { renewed: "renewed", retrying: "delayed", expired: "expired" } as const;

export class LoginMetrics {
  readonly #options: LoginMetricsOptions;
  /** By server, then by outcome. */
  readonly #renewals = new Map<string, Map<string, number>>();

  constructor(options: LoginMetricsOptions) {
    this.#options = options;
    options.events.on("login", ({ server, what }) => {
      if (what === "renewed" || what === "retrying" || what === "expired") this.#count(server, OUTCOMES[what]);
    });
    options.events.on("config.reloaded", ({ changes }) => {
      for (const server of changes.removed) this.#renewals.delete(server);
    });
  }

  /** One text for each metric. */
  render(): string[] {
    const { supervisor, logins } = this.#options;
    const views = supervisor.servers.flatMap(({ config }) => {
      const isPerUser = config.auth?.per === "user";
      const found = isPerUser ? logins.views(config) : [logins.view(config)];
      return found.flatMap((view) => {
        if (view === undefined || view.state === "none") return [];
        const { server, principal } = view;
        return [{ view, labels: isPerUser ? { server, principal } : { server } }];
      });
    });
    const states = views.map(({ view, labels }): Sample => [labels, Number(view.state === "connected")]);
    const left = views.flatMap(({ view: { expires_at }, labels }): Sample[] =>
      expires_at === undefined ? [] : [[labels, Math.round((Date.parse(expires_at) - Date.now()) / 1000)]],
    );
    const renewals = [...this.#renewals].flatMap(([server, counts]) =>
      [...counts].map(([outcome, count]): Sample => [{ server, outcome }, count]),
    );
    return [
      metric("hub_login_state", "gauge", "1 if a server that needs a login has a usable one, else 0", states),
      metric("hub_login_expires_seconds", "gauge", "Time until the access token of a login expires", left),
      metric("hub_login_renewals_total", "counter", "Renewals of logins by outcome", renewals),
    ];
  }

  #count(server: string, outcome: string): void {
    const counts = this.#renewals.get(server) ?? new Map<string, number>();
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    this.#renewals.set(server, counts);
  }
}
