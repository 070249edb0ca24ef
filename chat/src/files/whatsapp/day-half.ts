// Before or after noon, in the words of the languages that count to twelve.

/** Noon's hour itself has a word in Chinese. */
export type DayHalf = "am" | "pm" | "noon";

/** Without dots, spaces and marks, in small letters. */
const WORDS: Readonly<Record<DayHalf, string>> = {
  am: "am vm fm ap dop de öö πμ дп pd priekšp priešpiet sa pg 上午 凌晨 清晨 早上 午前 오전 ص قظ לפנהצ पूर्वाह्न मपू முற்பகல் පෙව ጥዋት ก่อนเที่ยง",
  pm: "pm nm em ip odp du ös μμ пп md pēcp popiet ch ptg 下午 晚上 午後 오후 م بظ אחהצ अपराह्न मउ பிற்பகல் පව ከሰዓት หลังเที่ยง",
  noon: "中午",
};

const HALVES: ReadonlyMap<string, DayHalf> = new Map(
  (["am", "pm", "noon"] as const).flatMap((half) => WORDS[half].split(" ").map((word) => [bare(word), half] as const)),
);

export function dayHalfOf(word: string): DayHalf | undefined {
  return HALVES.get(bare(word));
}

function bare(word: string): string {
  return word.toLowerCase().replaceAll(/[\s.״"'’]/gu, "");
}

/** Of 24. What is above twelve already stays. */
export function hourOf(hour: number, half: DayHalf | undefined): number {
  if (half === undefined || hour > 12) return hour;
  if (half === "am") return hour % 12;
  if (half === "noon") return hour < 6 ? hour + 12 : hour;
  return (hour % 12) + 12;
}
