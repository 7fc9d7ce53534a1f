/** Characters of an API description that are read; the page leaves out the prose of a longer one before it sends it. */
export const OPENAPI_LENGTH = 512 * 1024;
