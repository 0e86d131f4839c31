// Put everything on the page.
pairTable("links-table", every);
const doubt = (row) => Math.abs(links.p[row] - 0.5);
pairTable("review-table", every.filter((row) => links.review[row]), { marks: true, filters: false, order: (a, b) => doubt(a) - doubt(b) || a - b });
document.getElementById("save-marks").addEventListener("click", saveMarks);
countMarks();
document.getElementById("threshold").append(...thresholdTool());
draw("weights", fieldWeights);
if (data.clusters) document.getElementById("clusters").append(...clusterTable());
networkMaps();
if (data.latent) draw("latent-map", latentMap);
draw("count-chart", countChart);
draw("histogram", histogram);
if (data.calibration) draw("calibration", calibration);
draw("traces", traces);
