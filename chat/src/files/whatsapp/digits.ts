// Digits of any script, as those that we count with.

/** One digit; anything else is undefined. */
export function digitValue(letter: string): number | undefined {
  if (letter >= "0" && letter <= "9") return letter.charCodeAt(0) - 0x30;
  if (letter < "\u0660" || !isDigit(letter)) return undefined;
  const code = letter.charCodeAt(0);
  // Ten digits stand side by side, and no script's next to another's.
  let zero = code;
  while (code - zero < 9 && isDigit(String.fromCharCode(zero - 1))) zero--;
  return code - zero;
}

function isDigit(letter: string): boolean {
  return /^\p{Nd}$/u.test(letter);
}
