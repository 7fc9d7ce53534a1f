/** A scope in words. `second_factor`: granted only with one. `confirmed`: some of what it opens takes a login that was confirmed with one. */
export type ScopeView = {
  name: string;
  title: string;
  sentence: string;
  sensitive: boolean;
  second_factor: boolean;
  confirmed: boolean;
};

/** What granting takes of the person: nothing more, their second factor, which confirms the login for its first hours, or to sign in again. */
export type ConsentProof = 'none' | 'confirm' | 'sign_in';

/** What the login would get in a workspace. */
export type OfferView = {
  scopes: ScopeView[];
  /** Asked for and beyond the person's role. */
  missing: string[];
};

/** What a page of consent shows of the client that asks. */
export type AppView = {
  name: string;
  type: 'confidential' | 'public';
  is_cli: boolean;
  /** The host that vouches for a client which the workspace hasn't registered; null for all others. */
  url_host: string | null;
  /** The client's own words, safe to render. */
  html: string | null;
};

/** Where a code goes: a server, a program on the person's own computer, or an app that registered a scheme there. */
export type RedirectPlace = { kind: 'web' | 'loopback' | 'app'; host: string };

/** What the person may choose between, and what the login would get in the chosen one. */
export type PlaceView = {
  workspaces: { slug: string; name: string; role: string }[];
  /** Null when there is none to choose, or none was chosen yet. */
  chosen: { slug: string; name: string; role: string } | null;
  offer: OfferView | null;
  /** Why this workspace can't be logged in to, in one sentence. */
  problem: string | null;
  /** The role lacks what the client named: it gets access_denied. */
  beyond: string | null;
  proof: ConsentProof;
};

export type ConsentPageView = PlaceView & {
  app: AppView;
  redirect: RedirectPlace & { verified: boolean };
  space: 'live' | 'test';
  account: { email: string; name: string };
  fresh_sign_in: boolean;
};

export type DevicePageView = PlaceView & {
  app: AppView;
  space: 'live' | 'test';
  account: { email: string; name: string };
  /** The code again, when the person came with it. */
  user_code: string | null;
  /** The device as it asked: not who holds it, but what its own request said. */
  device: { ip: string | null; country: string | null; city: string | null; user_agent: string | null; asked_at: string };
};
