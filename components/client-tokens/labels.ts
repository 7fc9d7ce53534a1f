export const ACTION_LABELS = { tokenize: 'Tokenize', detokenize: 'Detokenize', decrypt: 'Decrypt' } as const;
