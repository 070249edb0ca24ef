// How a request is passed on in which the server may ask back. Legacy clients are asked while it lasts, and between two modern
// peers the answer itself asks; only a modern client of a legacy server needs somebody in between who waits (parking.ts).

import type { Question } from "../calls/call.ts";
import type { Group } from "../catalog/group.ts";
import type { Respondent } from "../servers/respondent.ts";
import type { Era } from "../wire/era.ts";
import type { JsonObject } from "../wire/json.ts";
import type { Reply, RequestMessage } from "../wire/jsonrpc.ts";
import type { Exchange } from "../wire/server.ts";
import { withAskerInside } from "./asker.ts";
import {
  canBeAsked,
  missingCapability,
  unsupported,
  withBlame,
  withReason,
  type Unasked as UnaskedQuestion,
} from "./capabilities.ts";
import { Parking, type ParkingOptions } from "./parking.ts";
import { clientKey } from "./principal.ts";
import { Relay } from "./relay.ts";
import type { Tasks } from "./tasks.ts";
import { checkAccepted, forModern } from "./url-elicitation.ts";

export interface ConversationsOptions extends ParkingOptions {
  /** Unknown while a server is down or asleep. */
  eraOf(server: string): Era | undefined;
  readonly tasks: Tasks;
}

/** Whose server is asked. */
interface Asked {
  readonly server: string;
  readonly group: Pick<Group, "namesAsker">;
}

type Run<Q extends Question> = (question: Q) => Promise<Reply>;

export class Conversations {
  readonly #options: ConversationsOptions;
  readonly #parking: Parking;

  constructor(options: ConversationsOptions) {
    this.#options = options;
    this.#parking = new Parking(options);
  }

  /** Whom a server may ask in the course of this one request. */
  respondent(exchange: Exchange, server: string, group: Pick<Group, "namesAsker">): Respondent {
    if (exchange.era === "modern") return new Unasked(exchange);
    return new Relay(exchange, this.#options.tasks, server, { isNamed: group.namesAsker });
  }

  /** `question` has the respondent of its exchange; `run` asks the server. */
  async pass<Q extends Question>(
    exchange: Exchange,
    { server, group }: Asked,
    question: Q,
    run: Run<Q>,
  ): Promise<Reply> {
    if (exchange.era === "legacy") return passLegacy(question, run);
    const reply = await this.#passModern(exchange, server, question, run);
    return group.namesAsker ? withAskerInside(reply, server) : reply;
  }

  async #passModern<Q extends Question>(exchange: Exchange, server: string, question: Q, run: Run<Q>): Promise<Reply> {
    const era = this.#options.eraOf(server);
    const { requestState } = exchange.request.params?.value ?? {};
    const isOurs = Parking.owns(requestState) || (era === "legacy" && requestState !== undefined);
    if (isOurs) return forModern(await this.#parking.resume(exchange), exchange.capabilities);
    if (era === "modern") return run(question);
    const asked = era === "legacy" ? withoutInput(question) : question;
    const reply = canBeAsked(exchange.capabilities)
      ? await this.#parking.begin(exchange, (respondent) =>
          run({ ...asked, respondent, onNotification: (method, params) => respondent.tell(method, params) }),
        )
      : await runUnasked(exchange, asked, run);
    return forModern(reply, exchange.capabilities);
  }

  /** Calls that wait for their client to come back will wait in vain from now on. */
  close(): void {
    this.#parking.close();
  }
}

/** What a client brings back without a state was asked for by an error; a legacy server knows nothing of it. */
function withoutInput<Q extends Question>(question: Q): Q {
  if (question.params?.value["inputResponses"] === undefined) return question;
  checkAccepted(question.params.value);
  return { ...question, replace: { ...question.replace, inputResponses: undefined } };
}

async function passLegacy<Q extends Question>(question: Q, run: Run<Q>): Promise<Reply> {
  const reply = await run(question);
  return question.respondent instanceof Relay ? withReason(reply, question.respondent.unasked) : reply;
}

/** A legacy server of a client that cannot be asked anything. */
async function runUnasked<Q extends Question>(exchange: Exchange, question: Q, run: Run<Q>): Promise<Reply> {
  const respondent = new Unasked(exchange);
  return withBlame(await run({ ...question, respondent }), respondent.unasked);
}

/** A modern client: a modern server is told what it can do and asks in its answer, a legacy one can ask it nothing. */
class Unasked implements Respondent {
  readonly wasAsked = false;
  readonly askedMs = 0;
  /** What the client could not be asked. */
  unasked: UnaskedQuestion | undefined;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  caller(): string | undefined {
    return clientKey(this.#exchange);
  }

  get capabilities(): JsonObject {
    return this.#exchange.capabilities;
  }

  async answer({ method, params }: RequestMessage): Promise<Reply> {
    const question = { method, params: params?.value };
    const missing = missingCapability(question, this.capabilities) ?? {};
    this.unasked ??= { method, missing };
    return unsupported(question, missing);
  }

  completed(): void {}
}
