/** The measures of the scenario `counts`, by the field that each fills. */
export const countMeasures = {
  objectRequests: "requests to objects per publication",
  callsBetweenObjects: "calls between objects per publication",
  rowsWritten: "rows written per publication",
  rowsRead: "rows read per publication",
  alarmsSet: "alarms set per publication",
  alarmsRung: "alarms rung per publication",
} as const;
