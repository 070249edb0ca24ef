// A column of a table.

export interface Column {
  readonly id: string;
  readonly label: string;
  /** Numbers end at the same edge. */
  readonly end?: boolean;
  /** Can be sorted by; the page decides how. */
  readonly sortable?: boolean;
  /** The label is read but not seen: a column of buttons. */
  readonly hideLabel?: boolean;
  /** Gives its width to others. */
  readonly grow?: boolean;
}
