// Runs before the first paint, so that a chosen theme does not flash.
var theme = localStorage.getItem("plugboard.theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
