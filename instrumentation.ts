/** Next tells of every page that failed; the failure goes to the log, and what an outage caused to the gateway. */
export { onRequestError } from '#server/web/page-failures.ts';
