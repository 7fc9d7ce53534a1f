/** What pages need to know of the types of keys. */
export {
  KEY_TYPE_NAMES,
  KEY_TYPES,
  type KeyType,
  type KeyUse,
  keyTypeCan,
  keyTypesFor,
  RSA_PADDINGS,
  type SignatureHash,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from '#server/kernel/key-types.ts';
