/** What a picture may weigh, in bytes (interface rule 22 §11). */
export const PICTURE_BYTES = 2 * 1024 * 1024;
/** Where a picture is served, by its id. */
export const pictureUrl = (id: string): string => `/auth/avatars/${id}`;
