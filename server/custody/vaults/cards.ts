/** Known only from a BIN table, which isn't licensed (interface rule 42 §1.2). */
export const funding = { card_funding_type: null, card_issuing_country: null } as const;

/** The last day of a card's expiry month, as YYYY-MM-DD. */
export const cardExpiry = (year: number, month: number): string => new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
