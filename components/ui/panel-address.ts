/** Whether an address keeps the panel of this name open. */
export const isOpenIn = (key: string, address: string): boolean => new URL(address).searchParams.has(key);

/** Whether two addresses are one place, whatever the panel of this name shows in each. */
export const isSamePageExcept = (key: string, one: string, other: string): boolean => without(key, one) === without(key, other);

function without(key: string, address: string): string {
  const url = new URL(address);
  url.searchParams.delete(key);
  // Written anew: the same text may be escaped in two ways.
  return `${url.origin}${url.pathname}?${url.searchParams.toString()}${url.hash}`;
}
