// Day periods (AM, PM) in the languages with 12-hour clocks. Some divide the day further: morning, afternoon, evening, and a
// night that spans midnight.

export type DayPeriod = "am" | "pm" | "noon" | "night";

/** Lower case, without dots, spaces and marks. */
const WORDS: Readonly<Record<DayPeriod, readonly string[]>> = {
  am: [
    "am vm fm ap dop de öö πμ дп pd priekšp priešpiet sa pg 上午 凌晨 清晨 早上 午前 오전 ص قظ לפנהצ पूर्वाह्न मपू முற்பகல் පෙව ጥዋት ก่อนเที่ยง",
    "सुबह पहाट सकाळ सकाळी बिहान ভোর সকাল સવારે ఉదయం ಬೆಳಗ್ಗೆ அதிகாலை காலை പുലർച്ചെ രാവിലെ ਸਵੇਰੇ صبح بامداد قبلازظهر sáng pagi",
  ],
  pm: [
    "pm nm em ip odp du ös μμ пп md pēcp popiet ch ptg 下午 晚上 午後 오후 م بظ אחהצ अपराह्न मउ பிற்பகல் පව ከሰዓት หลังเที่ยง",
    "दोपहर शाम दुपार दुपारी संध्याकाळ संध्याकाळी দুপুর বিকাল সন্ধ্যা બપોરે સાંજે మధ్యాహ్నం సాయంత్రం ಮಧ್ಯಾಹ್ನ ಸಂಜೆ மதியம் மாலை அந்திமாலை",
    "ഉച്ചയ്ക്ക് ഉച്ചതിരിഞ്ഞ് വൈകുന്നേരം സന്ധ്യ ਦੁਪਹਿਰੇ ਸ਼ਾਮੀਂ دوپہر سہپہر شام عصر ظهر بعدازظهر chiều tối sore petang",
  ],
  noon: ["中午 siang tengahhari"],
  night: ["रात रात्र रात्री রাত রাত্রি રાત્રે రాత్రి ರಾತ್ರಿ இரவு രാത്രി ਰਾਤੀਂ رات شب đêm malam"],
};

const HALVES: ReadonlyMap<string, DayPeriod> = new Map(
  (["am", "pm", "noon", "night"] as const).flatMap((half) =>
    WORDS[half].flatMap((words) => words.split(" ").map((word) => [bare(word), half] as const)),
  ),
);

export function dayPeriodOf(word: string): DayPeriod | undefined {
  return HALVES.get(bare(word));
}

function bare(word: string): string {
  return word.toLowerCase().replaceAll(/[\s.״"'’\u200c]/gu, "");
}

/** Converts to a 24-hour clock. Hours above twelve stay unchanged. */
export function hourOf(hour: number, half: DayPeriod | undefined): number {
  if (half === undefined || hour > 12) return hour;
  if (half === "am") return hour % 12;
  if (half === "noon") return hour < 6 ? hour + 12 : hour;
  // Night includes the hours after midnight.
  if (half === "night") return hour % 12 < 6 ? hour % 12 : hour + 12;
  return (hour % 12) + 12;
}
