/** The published values of interface rule 41 §3.1. */
export const VECTORS = {
  bundle: {
    public_key_raw: 'BGD-1LolWp0xyWHrdMY1bWjASbiSO2H6bOZpYi5g8p-2eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk',
    key_ref: { tenant_id: '0f8fad5b-d9cb-469f-a165-70867728950e', app_key_id: '7c9e6679-7425-40de-944b-e07fc1f90ae7', key_version: 1 },
  },
  /** The recipient's private scalar. */
  scalar: 'c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721',
  key_ref: 'MGY4ZmFkNWItZDljYi00NjlmLWExNjUtNzA4Njc3Mjg5NTBlOjdjOWU2Njc5LTc0MjUtNDBkZS05NDRiLWUwN2ZjMWY5MGFlNzox',
  /** The ephemeral public point. */
  point: 'BOJm3f3BJmjbMNTKPo93SUMsQWBE8tK4wQvz1AEq7_qKv6hkBKLp_-Z9R8WH73qXp_RWuGO00Cz8aSiXOrWxyzk',
  /** The ephemeral key pair as a JWK's members; its scalar is 0f56…9813. */
  ephemeral: {
    x: '4mbd_cEmaNsw1Mo-j3dJQyxBYETy0rjBC_PUASrv-oo',
    y: 'v6hkBKLp_-Z9R8WH73qXp_RWuGO00Cz8aSiXOrWxyzk',
    d: 'D1bbeMpGCwVcUABkgkvtmZolqvSOu1GawgFTe4VHmBM',
  },
  values: [
    { datatype: 's', text: '4242424242424242', role: 'pci', last: 'JVuPDkehk_fGO-9BHbpz1ORmrDQL1IZgsQvc2v6CP78' },
    { datatype: 'n', text: '1299', role: '', last: 'QaPdEaojHtv7Tv45N56rpgQMz6E' },
    { datatype: 'b', text: 'true', role: '', last: 'BOORTRGP5krgBnVbMBX7aU-MXik' },
    { datatype: 'j', text: 'null', role: '', last: 'HuSIRMikThfWIqZ4j_Y9SFsW6bc' },
  ],
};
