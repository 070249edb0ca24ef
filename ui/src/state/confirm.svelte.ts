// One question at a time before something that cannot be taken back. ui/Confirm.svelte shows it.

export interface Question {
  readonly title: string;
  readonly text?: string | undefined;
  /** Shown as they are, one below the other. */
  readonly lines?: readonly string[] | undefined;
  readonly action: string;
  readonly danger?: boolean | undefined;
  /** Has to be typed first. */
  readonly word?: string | undefined;
  /** An option beside it. */
  readonly option?: string | undefined;
}

export interface Decision {
  readonly yes: boolean;
  /** Whether the option was ticked. */
  readonly option: boolean;
}

const NO: Decision = { yes: false, option: false };

class Confirmations {
  question: Question | undefined = $state.raw();
  #answer: ((decision: Decision) => void) | undefined;

  ask(question: Question): Promise<Decision> {
    this.answer(NO);
    this.question = question;
    return new Promise((resolve) => (this.#answer = resolve));
  }

  answer(decision: Decision): void {
    this.#answer?.(decision);
    this.#answer = undefined;
    this.question = undefined;
  }
}

export const confirmations = new Confirmations();

/** True if the person agrees. */
export async function confirm(question: Question): Promise<boolean> {
  return (await confirmations.ask(question)).yes;
}
