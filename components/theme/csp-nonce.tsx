'use client';

import { createContext, type ReactNode } from 'react';

/** The request's nonce, for the few inline <style> elements the primitives render. */
export const Nonce = createContext<string | undefined>(undefined);

/** Hands the nonce of the request down. */
export const CspNonce = ({ nonce, children }: { nonce: string | undefined; children: ReactNode }) => (
  <Nonce value={nonce}>{children}</Nonce>
);
