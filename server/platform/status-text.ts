import { STATUS_CODES } from 'node:http';

/** The reason phrase of an HTTP status, such as `Not Found`; empty for one that has none. */
export const statusText = (status: number): string => STATUS_CODES[status] ?? '';
