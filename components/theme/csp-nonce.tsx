'use client';

import { CSPProvider } from '@base-ui/react/csp-provider';
import type { ReactNode } from 'react';

/** Hands the request's nonce to the few inline <style> elements the primitives render. */
export const CspNonce = ({ nonce, children }: { nonce: string | undefined; children: ReactNode }) => (
  <CSPProvider nonce={nonce}>{children}</CSPProvider>
);
