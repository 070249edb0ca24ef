// When records are written: at once where calls come one at a time, else together with all that this turn of the event loop
// brings, and the next where many come. A file costs by the write, and what is written together is then sent together.

/** Turns that records are gathered for, while each brings more: longer, and servers and clients have to wait. */
const MAX_TURNS = 2;
/** Where fewer records come together, a second turn brings too little for the wait. */
const MANY_RECORDS = 5;

export interface GatheringOptions {
  /** How many records wait to be written. */
  readonly waiting: () => number;
  /** Writes them, and says so by `written`. */
  readonly write: () => void;
  readonly onNextTurn?: (callback: () => void) => unknown;
}

export class Gathering {
  readonly #waiting: () => number;
  readonly #write: () => void;
  readonly #onNextTurn: (callback: () => void) => unknown;
  /** Settled when the records of this turn are written. */
  #turn: Promise<void> | undefined;
  /** How many records were written together of late; fewer count only after a while. */
  #crowd = 1;

  constructor({ waiting, write, onNextTurn = setImmediate }: GatheringOptions) {
    this.#waiting = waiting;
    this.#write = write;
    this.#onNextTurn = onNextTurn;
  }

  /** A record waits. Settled when it is written; undefined where it is already. `isAlone`: no other call is under way. */
  add({ isAlone }: { readonly isAlone: boolean }): Promise<void> | undefined {
    // What is under way does not tell by itself: of many that come together the first one and the last one are alone, too.
    if (isAlone && this.#crowd <= 1 && this.#turn === undefined) {
      this.#write();
      return undefined;
    }
    this.#turn ??= this.#gather();
    return this.#turn;
  }

  /** So many were written together, on whosever account: those that come now are of another turn. */
  written(count: number): void {
    this.#turn = undefined;
    if (count > 0) this.#crowd = Math.max(count, this.#crowd >>> 1);
  }

  #gather(): Promise<void> {
    return new Promise((resolve) => {
      let gathered = 0;
      let turns = 0;
      const onTurn = () => {
        const before = gathered;
        gathered = this.#waiting();
        const maxTurns = Math.max(gathered, this.#crowd) < MANY_RECORDS ? 1 : MAX_TURNS;
        if (gathered > before && ++turns < maxTurns) {
          this.#onNextTurn(onTurn);
          return;
        }
        this.#write();
        resolve();
      };
      this.#onNextTurn(onTurn);
    });
  }
}
