// What a page and a hosted field say to each other by postMessage. Both name the other's origin when they send, and check it and the window when
// they receive. A field never sends what was typed or revealed, only what became of it. Where a value may go isn't among the messages: the service writes it
// into the document of the field.

/** From the page. `origin` is its own, and must be the one that the field was loaded for. A field takes one `svc:init`. */
export type ToField =
  | { type: 'svc:init'; origin: string; role?: string | undefined; button?: string | false | undefined }
  | {
      type: 'svc:init';
      origin: string;
      token: string;
      data?: string | undefined;
      action?: RevealAction | undefined;
      button?: string | false | undefined;
    }
  | { type: 'svc:submit' };
export type Init = Extract<ToField, { type: 'svc:init' }>;
export type RevealAction = 'decrypt' | 'detokenize';

/** From the field. */
export type FromField =
  | { type: 'svc:ready' }
  | { type: 'svc:resize'; height: number }
  | { type: 'svc:result'; result: CardResult }
  | { type: 'svc:shown' }
  | { type: 'svc:cleared' }
  | { type: 'svc:error'; error: { type: string; message: string; request_id: string | null } };

/** All that a page learns of a card. */
export type CardResult = {
  last4: string;
  brand: string;
  /** `MM/YY` */
  exp: string;
  /** The vault token, when the field was mounted with a client token. */
  token?: string;
  /** Each member sealed by itself, when the field was mounted without a client token. */
  ciphertext?: SealedCard;
};
export type SealedCard = { number: string; exp_month: string; exp_year: string; name: string };
