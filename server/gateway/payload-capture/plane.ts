import { within } from '../core/hosts.ts';
import { definePlane, type Plane } from '../core/plane.ts';
import { refusalAnswer } from '../core/response-block.ts';
import { type Captures, receiver } from './receive.ts';

/**
 * The links of "check payload capture" (interface rule 10 §15.3): one request each, kept sealed for the person who made the link and never sent on. Its
 * path is a credential, so its calls are in no log.
 */
export const capturePlane = (captures: Captures): Plane =>
  definePlane({
    name: 'capture',
    logged: false,
    matches: (match) => match.plane === 'tenant' && within('/_capture', match.target),
    newState: () => NOTHING,
    phases: { receive: receiver(captures) },
    refusalAnswer,
    logSubject: () => ({ mode: 'capture', route: null, environment: '', path: '/_capture', query: null }),
  });

const NOTHING = {};
