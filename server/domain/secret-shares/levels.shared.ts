/** The levels as people read them (interface rule 30 §14.1). */
export const LEVEL_LABELS = { use: 'Can use', view: 'Can view', manage: 'Can manage' } as const;
