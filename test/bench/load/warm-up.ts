/** Goes before what is measured, so that nobody is seen while its code isn't compiled yet. */
export const warmUpSeconds = 0.3;
