// SPDX-License-Identifier: MIT

/** Copies a text. Where the clipboard is closed, what shows it is selected and the reader copies it. */
export async function copyText(text: string, shown: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(shown);
    return document.execCommand("copy");
  }
}
