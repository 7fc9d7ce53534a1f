/** Whether a workspace may be built in and called: the other subscription statuses are to look and to leave (interface rule 20 §5). */
export const isServableStatus = (status: string): boolean => status === 'active' || status === 'trialing' || status === 'dunning';
