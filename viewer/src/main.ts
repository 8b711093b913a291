// SPDX-License-Identifier: MIT
//
// Where the page begins: reads the data that the report carries and shows it.
const element = document.getElementById("asterism-data");
const app = document.getElementById("app");
if (app) {
  const heading = document.createElement("h1");
  const data = element ? (JSON.parse(element.textContent ?? "null") as { title?: string }) : null;
  heading.textContent = data?.title ?? "This page carries no data.";
  app.replaceChildren(heading);
}
