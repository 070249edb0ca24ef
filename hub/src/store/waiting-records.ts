// Records of the journal that could not be written yet, oldest first, within bounds.

const MAX_RECORDS = 20_000;
const MAX_BYTES = 16 << 20;

export interface WaitingRecord {
  readonly bytes: Buffer;
  readonly isEnd: boolean;
}

export class WaitingRecords {
  #records: WaitingRecord[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#records.length === 0;
  }

  /** Calls that have ended. */
  get calls(): number {
    return this.#records.filter(({ isEnd }) => isEnd).length;
  }

  /** False where there are too many already. */
  keep(record: WaitingRecord): boolean {
    if (this.#records.length >= MAX_RECORDS || this.#bytes + record.bytes.length > MAX_BYTES) return false;
    this.#records.push(record);
    this.#bytes += record.bytes.length;
    return true;
  }

  /** Hands them out in order; those from the one on that fails stay. */
  drain(write: (record: WaitingRecord) => void): void {
    let count = 0;
    try {
      for (const record of this.#records) {
        write(record);
        this.#bytes -= record.bytes.length;
        count++;
      }
    } finally {
      this.#records = this.#records.slice(count);
    }
  }
}
