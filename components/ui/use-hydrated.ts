'use client';

import { useSyncExternalStore } from 'react';

/** False on the server and in the first render: what depends on the viewer's zone or language differs there, and waits for the second. */
export const useHydrated = (): boolean => useSyncExternalStore(never, yes, no);

const never = () => () => undefined;
const [yes, no] = [() => true, () => false];
