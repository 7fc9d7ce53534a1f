/**
 * The options of a call that reveals something: it goes in a request of its own, the developer pane doesn't note it, and its reason travels as a header,
 * percent-encoded.
 */
export const revealCall = (reason?: string) => ({
  context: { reveal: true, headers: reason === undefined ? {} : { 'x-reveal-reason': encodeURIComponent(reason) } },
});
