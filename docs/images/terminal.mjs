// A small terminal: keeps the screen that a program has written, with colours. It knows the control sequences that the commands of this
// project use, and ignores others.

const COLORS = {
  30: "black",
  31: "red",
  32: "green",
  33: "yellow",
  34: "blue",
  35: "magenta",
  36: "cyan",
  90: "gray",
};
// eslint-disable-next-line no-control-regex
const TOKEN = /\u001b\[([?\d;]*)([A-Za-z])|\r|\n|[^\u001b\r\n]/gu;

export class Terminal {
  #columns;
  /** Rows of cells: `[character, style]`. */
  #rows = [[]];
  #row = 0;
  #column = 0;
  #style = "";

  constructor({ columns }) {
    this.#columns = columns;
  }

  write(text) {
    for (const [token, parameters = "", command] of text.matchAll(TOKEN)) {
      if (command !== undefined) this.#control(command, parameters);
      else if (token === "\r") this.#column = 0;
      else if (token === "\n") this.#down();
      else this.#put(token);
    }
  }

  /** The last rows, each a list of runs `[text, style]`. */
  screen(height) {
    return this.#rows.slice(-height).map((row) => {
      const runs = [];
      for (const [character, style] of Array.from(row, (cell) => cell ?? [" ", ""])) {
        const last = runs.at(-1);
        if (last?.[1] === style) last[0] += character;
        else runs.push([character, style]);
      }
      return runs;
    });
  }

  #put(character) {
    if (this.#column >= this.#columns) {
      this.#column = 0;
      this.#down();
    }
    this.#rows[this.#row][this.#column++] = [character, this.#style];
  }

  #down() {
    this.#row++;
    this.#rows[this.#row] ??= [];
  }

  #control(command, parameters) {
    const count = Number(parameters.split(";")[0]) || 0;
    if (command === "m") this.#paint(parameters);
    if (command === "A") this.#row = Math.max(0, this.#row - (count || 1));
    if (command === "G") this.#column = Math.max(0, (count || 1) - 1);
    if (command === "K")
      this.#rows[this.#row].length = count === 2 ? 0 : Math.min(this.#column, this.#rows[this.#row].length);
    if (command === "J") {
      this.#rows.length = this.#row + 1;
      this.#rows[this.#row].length = Math.min(this.#column, this.#rows[this.#row].length);
    }
  }

  #paint(parameters) {
    for (const code of parameters.split(";").map(Number)) {
      if (code === 0 || code === 39 || code === 22) this.#style = "";
      else if (code === 1) this.#style = "bold";
      else if (code === 2) this.#style = "gray";
      else if (COLORS[code] !== undefined) this.#style = COLORS[code];
    }
  }
}
