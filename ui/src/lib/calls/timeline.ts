// Geometry of the timeline of calls: lanes by session, bars by start and duration, bins where bars would be too many.

export interface TimedCall {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  /** What the lane is named after: the session, or the client where sessions are unknown. */
  readonly lane: string;
  readonly server: string;
  readonly outcome: string;
}

export interface View {
  readonly from: number;
  readonly until: number;
  /** Width of the drawing area in pixels. */
  readonly width: number;
}

export interface LaneRow {
  readonly lane: string;
  /** First row of the lane in the drawing, and how many it takes: calls that overlap are below each other. */
  readonly top: number;
  readonly rows: number;
}

export interface Bar {
  readonly x: number;
  readonly width: number;
  readonly row: number;
  readonly server: string;
  readonly failed: boolean;
  /** The call of the bar; for a bin of several calls, the first of them. */
  readonly id: number;
  readonly count: number;
}

export interface Timeline {
  readonly lanes: readonly LaneRow[];
  readonly bars: readonly Bar[];
  readonly rows: number;
}

/** Bars narrower than this cannot be seen or hit. */
const MIN_BAR = 3;
const MAX_ROWS_PER_LANE = 8;
const MAX_BARS = 5_000;

/** Lanes in the order of their first call. The order does not depend on the view, so that zooming moves nothing vertically. */
export function layOut(calls: readonly TimedCall[], view: View): Timeline {
  const placed = placeRows(calls);
  const span = Math.max(view.until - view.from, 1e-6);
  const x = (time: number): number => ((time - view.from) / span) * view.width;
  const bars: Bar[] = [];
  for (const { call, row } of placed.calls) {
    const left = x(call.start);
    const right = x(call.end);
    if (right < 0 || left > view.width) continue;
    bars.push({
      x: left,
      width: Math.max(MIN_BAR, right - left),
      row,
      server: call.server,
      failed: isFailure(call.outcome),
      id: call.id,
      count: 1,
    });
  }
  return { lanes: placed.lanes, rows: placed.rows, bars: bars.length > MAX_BARS ? bin(bars) : bars };
}

export function isFailure(outcome: string): boolean {
  return outcome !== "ok" && outcome !== "cancelled" && outcome !== "running";
}

function placeRows(calls: readonly TimedCall[]): {
  lanes: LaneRow[];
  calls: { call: TimedCall; row: number }[];
  rows: number;
} {
  const byLane = new Map<string, TimedCall[]>();
  for (const call of calls.toSorted((a, b) => a.start - b.start)) {
    const lane = byLane.get(call.lane);
    if (lane === undefined) byLane.set(call.lane, [call]);
    else lane.push(call);
  }
  const lanes: LaneRow[] = [];
  const placed: { call: TimedCall; row: number }[] = [];
  let top = 0;
  for (const [lane, members] of byLane) {
    const free: number[] = [];
    for (const call of members) {
      let row = free.findIndex((end) => end <= call.start);
      if (row === -1) row = free.length < MAX_ROWS_PER_LANE ? free.length : MAX_ROWS_PER_LANE - 1;
      free[row] = Math.max(call.end, free[row] ?? 0);
      placed.push({ call, row: top + row });
    }
    lanes.push({ lane, top, rows: free.length });
    top += free.length;
  }
  return { lanes, calls: placed, rows: top };
}

/** Joins bars of a row that touch, so that the number of bars depends on the pixels and not on the calls. */
function bin(bars: readonly Bar[]): Bar[] {
  const last = new Map<number, Bar>();
  const result: Bar[] = [];
  for (const bar of bars.toSorted((a, b) => a.row - b.row || a.x - b.x)) {
    const open = last.get(bar.row);
    if (open !== undefined && bar.x <= open.x + open.width) {
      const joined: Bar = {
        ...open,
        width: Math.max(open.x + open.width, bar.x + bar.width) - open.x,
        failed: open.failed || bar.failed,
        count: open.count + 1,
      };
      result[result.length - 1] = joined;
      last.set(bar.row, joined);
    } else {
      result.push(bar);
      last.set(bar.row, bar);
    }
  }
  return result;
}

/** The bar under a point, the smallest one first: a short call can lie inside a joined bar. */
export function barAt(timeline: Timeline, x: number, row: number): Bar | undefined {
  let best: Bar | undefined;
  for (const bar of timeline.bars) {
    if (bar.row !== row || x < bar.x - 2 || x > bar.x + bar.width + 2) continue;
    if (best === undefined || bar.width < best.width) best = bar;
  }
  return best;
}

/** Zooms by a factor around a point from 0 (left) to 1 (right), inside the limits. */
export function zoom(view: View, factor: number, at: number, limits: { from: number; until: number }): View {
  const span = view.until - view.from;
  const target = Math.min(Math.max(span * factor, 1), limits.until - limits.from);
  return slide(
    { ...view, from: view.from + (span - target) * at, until: view.from + (span - target) * at + target },
    0,
    limits,
  );
}

/** Moves by a part of the visible span, inside the limits. */
export function slide(view: View, by: number, limits: { from: number; until: number }): View {
  const span = Math.min(view.until - view.from, limits.until - limits.from);
  const from = Math.min(Math.max(view.from + by * span, limits.from), limits.until - span);
  return { ...view, from, until: from + span };
}

/** The first and the last moment of the calls, with a little room on both sides. */
export function extent(calls: readonly TimedCall[]): { from: number; until: number } {
  let from = Number.POSITIVE_INFINITY;
  let until = Number.NEGATIVE_INFINITY;
  for (const call of calls) {
    from = Math.min(from, call.start);
    until = Math.max(until, call.end);
  }
  if (from > until) return { from: 0, until: 1 };
  const room = Math.max((until - from) * 0.02, 1);
  return { from: from - room, until: until + room };
}
