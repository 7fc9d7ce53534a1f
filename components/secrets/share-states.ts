/** How the states of a share are shown. Only an offer has another word on either side. */
export const shareStates = (pending: string) =>
  ({
    pending: { state: 'warning', label: pending },
    active: { state: 'ok', label: 'Active' },
    expired: { state: 'off', label: 'Expired' },
    declined: { state: 'off', label: 'Declined' },
    revoked: { state: 'off', label: 'Revoked' },
    left: { state: 'off', label: 'Given up' },
  }) as const;
