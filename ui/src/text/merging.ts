// Text of the view of two changes of the same text.

export const merging = {
  title: "The file changed meanwhile",
  apart: "The changes are in different places, so that both can be kept.",
  overlap: "The changes are in the same place: one has to be chosen.",
  theirs: "What changed meanwhile",
  mine: "Your change",
  keepBoth: "Keep both",
  keepMine: "Keep mine",
  takeTheirs: "Take theirs",
};
