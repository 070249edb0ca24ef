// What every authorization server of these tests offers, whichever implementation it is.

import type { Browser, Page } from "./browser.ts";
import type { Front } from "./front.ts";

export interface Issuer {
  readonly issuer: string;
  readonly front: Front;
  /**
   * Does what a person does at an authorization address: logs in and consents. Ends at the last page, or at the first address
   * for which `until` is true, unopened.
   */
  approve(browser: Browser, url: string, until?: (url: URL) => boolean): Promise<Page>;
  close(): Promise<void>;
}
