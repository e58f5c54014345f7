/** How the sessions of processes that write read models begin their names in Postgres. */
export const PROJECTOR_SESSION = 'palimpsest projector ';
