// Converts decimal digits of any script.

/** Undefined for anything but one digit. */
export function digitValue(letter: string): number | undefined {
  if (letter >= "0" && letter <= "9") return letter.charCodeAt(0) - 0x30;
  if (letter < "\u0660" || !isDigit(letter)) return undefined;
  const code = letter.charCodeAt(0);
  // Unicode has the ten digits of a script side by side, never next to those of another.
  let zero = code;
  while (code - zero < 9 && isDigit(String.fromCharCode(zero - 1))) zero--;
  return code - zero;
}

function isDigit(letter: string): boolean {
  return /^\p{Nd}$/u.test(letter);
}
